// Models from Hugging Face's config.json.
#pragma once

#include <string>

#include "sim/base/json_reader.h"
#include "workloads/model_spec.h"

namespace busbar {

/// Reads the config that `path` names, beside the workload's file in `folder`.
/// Errors: an absolute path or "..", or no folder; a model_type that is not one of deepseek_v3, gemma, gpt2,
/// gpt_neox, llama, mistral, mixtral, phi3, qwen2, qwen3, qwen3_moe; a field that asks for what is not
/// modelled, by name. Left out: what changes neither sizes nor work: rope scaling, activation functions,
/// dropout, token ids.
[[nodiscard]] TransformerDims read_hf_config(const JsonValue& path, const std::string& folder);

/// The same, of a config that is already read.
[[nodiscard]] TransformerDims dims_of_hf_config(const JsonValue& config);

}  // namespace busbar
