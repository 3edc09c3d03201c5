#include "calibrate/run/nccl_wire.h"

#include <fmt/format.h>

#include <sstream>

#include "sim/base/error.h"

namespace busbar {

std::string places_text(const std::vector<RankPlace>& places) {
  std::string text;
  for (const RankPlace& p : places) text += fmt::format("{}\t{}\t{}\n", p.local, p.device, p.host);
  return text;
}

std::vector<RankPlace> places_from(const std::string& text) {
  std::vector<RankPlace> places;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields(line);
    RankPlace place;
    fields >> place.local;
    fields.ignore();
    std::getline(fields, place.device, '\t');
    std::getline(fields, place.host, '\t');
    places.push_back(std::move(place));
  }
  return places;
}

// Doubles with all their digits.
std::string samples_text(const std::vector<NcclMember>& members,
                         const std::vector<std::vector<double>>& samples) {
  std::string text;
  for (std::size_t m = 0; m < members.size(); ++m)
    text += fmt::format("{} {:.17g}\n", members[m].rank, fmt::join(samples[m], " "));
  return text;
}

void take_samples(const std::string& text, BatchTimes& times) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields(line);
    std::size_t rank = 0;
    fields >> rank;
    BUSBAR_CHECK(!fields.fail() && rank < times.size());
    for (double seconds = 0; fields >> seconds;) times[rank].push_back(seconds);
  }
}

std::string kernels_text(const std::vector<MeasuredKernel>& kernels) {
  std::string text;
  for (const MeasuredKernel& k : kernels)
    text += fmt::format("{} {} {} {} {} {} {} {}\n", static_cast<int>(k.kind), k.rank.value_or(0),
                        k.bytes.count(), k.shape[0], k.shape[1], k.shape[2], static_cast<int>(k.type),
                        k.time.ps());
  return text;
}

void take_kernels(const std::string& text, std::vector<MeasuredKernel>& kernels) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields(line);
    int kind = 0, type = 0;
    std::uint32_t rank = 0;
    std::int64_t bytes = 0, ps = 0;
    MeasuredKernel k;
    fields >> kind >> rank >> bytes >> k.shape[0] >> k.shape[1] >> k.shape[2] >> type >> ps;
    BUSBAR_CHECK(!fields.fail());
    k.kind = static_cast<MeasuredKernelKind>(kind);
    k.type = static_cast<DataType>(type);
    k.rank = rank;
    k.bytes = Bytes(bytes);
    k.time = Time::picoseconds(ps);
    kernels.push_back(k);
  }
}

}  // namespace busbar
