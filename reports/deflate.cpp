#include "reports/deflate.h"

#include <zlib.h>

#include "sim/base/error.h"

namespace busbar {

std::string deflated(std::string_view bytes) {
  uLongf size = compressBound(bytes.size());
  std::string out(size, '\0');
  const int status = compress2(reinterpret_cast<Bytef*>(out.data()), &size,
                               reinterpret_cast<const Bytef*>(bytes.data()), bytes.size(), 6);
  if (status != Z_OK)
    throw Error(
        {.kind = ErrorKind::kSystem, .where = "HTML page", .message = "no memory to compress its data"});
  out.resize(size);
  return out;
}

std::string base64(std::string_view bytes) {
  constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t left = bytes.size() - i;
    const auto byte = [&](std::size_t k) {
      return k < left ? static_cast<unsigned>(static_cast<unsigned char>(bytes[i + k])) : 0U;
    };
    const unsigned three = byte(0) << 16U | byte(1) << 8U | byte(2);
    out += kLetters[three >> 18U];
    out += kLetters[three >> 12U & 63U];
    out += left > 1 ? kLetters[three >> 6U & 63U] : '=';
    out += left > 2 ? kLetters[three & 63U] : '=';
  }
  return out;
}

}  // namespace busbar
