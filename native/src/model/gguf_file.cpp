#include "model/gguf_file.h"

#include "ops/error.h"

namespace llmservice {

namespace fs = std::filesystem;

std::optional<fs::path> find_gguf(const fs::path& model) {
  std::error_code ignored;
  if (model.extension() == ".gguf" && fs::is_regular_file(model, ignored)) return model;
  if (fs::exists(model / "model.safetensors") || fs::exists(model / "model.safetensors.index.json")) {
    return std::nullopt;
  }
  std::optional<fs::path> found;
  for (const auto& entry : fs::directory_iterator(model, ignored)) {
    if (entry.path().extension() != ".gguf") continue;
    if (found) {
      throw EngineError("CheckpointIncomplete", model.string() + " holds several .gguf files, among them " +
                                                    found->filename().string() + " and " +
                                                    entry.path().filename().string() +
                                                    ": name one of them instead of the folder.");
    }
    found = entry.path();
  }
  return found;
}

}  // namespace llmservice
