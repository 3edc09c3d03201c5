#include "calibrate/import/read_measured.h"

#include "calibrate/import/measured_csv.h"
#include "calibrate/import/measured_json.h"
#include "calibrate/import/nccl_inspector.h"
#include "calibrate/import/nccl_tests_json.h"
#include "calibrate/import/nccl_tests_log.h"
#include "calibrate/import/osu.h"
#include "calibrate/import/text_scan.h"

namespace busbar {
namespace {

constexpr std::size_t kRcclColumns = 11;
constexpr std::string_view kRcclHeader = "numCycle,collective,gpus,size,type,redop,inplace,time,algbw,busbw,#wrong\n";

// The first character that is no blank and in no comment of ours, and whether a key or an end follows a
// brace: logs may begin with a brace too, of a Python dictionary.
bool looks_like_json(std::string_view text) {
  const auto skip = [&text] {
    while (!text.empty() && (is_blank(text.front()) || text.front() == '\n')) text.remove_prefix(1);
  };
  skip();
  while (text.starts_with("//") || text.starts_with("/*")) {
    const std::string_view end = text[1] == '/' ? "\n" : "*/";
    const std::size_t at = text.find(end, 2);
    text.remove_prefix(at == std::string_view::npos ? text.size() : at + end.size());
    skip();
  }
  if (!text.starts_with('{')) return false;
  text.remove_prefix(1);
  skip();
  return text.starts_with('"') || text.starts_with('}') || text.starts_with('/');
}

[[noreturn]] void fail_unknown(const std::string& name, std::string given) {
  throw Error({.where = name,
               .expected =
                   "measured collectives: the text or JSON (-J) of nccl-tests or rccl-tests, output of the "
                   "OSU benchmarks, lines of NCCL's inspector, CSV with size_bytes and oop_time_us or time_us, "
                   "or busbar.measured/1",
               .given = std::move(given)});
}

Measurement read_json(std::string_view text, const std::string& name, const ImportHints& hints) {
  // A file of nccl-tests may be cut; its key is there before the cut.
  if (text.find("\"results\"") != std::string_view::npos && text.find("\"busbar.") == std::string_view::npos)
    return read_nccl_tests_json(text, name, hints);
  const JsonDocument document = JsonDocument::parse(text, name);
  const auto schema = document.root().find("schema");
  if (schema && schema->is_string() && schema->string().starts_with("busbar.measured/"))
    return read_measured_json(document, hints);
  fail_unknown(name, schema ? schema->abbreviated() : "other JSON");
}

// rccl-tests' CSV export has no line of names: a cycle, the operation in quotes, and nine figures.
bool looks_like_rccl_export(std::string_view text) {
  const std::vector<std::string_view> cells = split(text.substr(0, text.find('\n')), ',');
  if (cells.size() != kRcclColumns || !parse_whole(cells[0]) || cells[1].size() < 3 || cells[1][0] != '"')
    return false;
  return parse_collective(cells[1].substr(1, cells[1].size() - 2)).has_value();
}

}  // namespace

Measurement read_measured_text(std::string_view text, const std::string& name, const ImportHints& hints) {
  if (looks_like_nccl_inspector(text)) return read_nccl_inspector(text, name);
  if (looks_like_json(text)) return read_json(text, name, hints);
  if (looks_like_osu(text)) return read_osu(text, name, hints);
  if (looks_like_rccl_export(text)) return read_measured_csv(std::string(kRcclHeader) + std::string(text), name, hints);
  if (looks_like_measured_csv(text)) return read_measured_csv(text, name, hints);
  if (looks_like_nccl_tests(text)) return read_nccl_tests_log(text, name, hints);
  fail_unknown(name, text.empty() ? "an empty file" : "something else");
}

Measurement read_measured(const std::string& path, const ImportHints& hints) {
  return read_measured_text(load_text(path), path, hints);
}

}  // namespace busbar
