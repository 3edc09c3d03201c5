#include <array>

#include "workloads/model_spec.h"

namespace busbar {

namespace {

constexpr std::array<ModelPreset, 1> kPresets = {{
    {.name = "llama-2-7b",
     .help = "Llama 2 7B: 32 layers, hidden 4096, 6,738,415,616 parameters",
     .source = "Touvron et al., Llama 2, 2023 (arXiv:2307.09288); config.json of meta-llama/Llama-2-7b-hf",
     .dims = {.layers = 32,
              .hidden = 4096,
              .ffn_hidden = 11008,
              .heads = 32,
              .kv_heads = 32,
              .head_dim = 128,
              .vocab = 32000}},
}};

}  // namespace

std::span<const ModelPreset> model_presets() { return kPresets; }

}  // namespace busbar
