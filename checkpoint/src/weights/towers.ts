// Multimodal releases have towers for images and sound beside the text model, which alone is run.

/** A pattern of how the names of their tensors begin: what native/src/model/stored_weight.cpp skips. */
export const towers = String.raw`(?:model\.)?(?:visual|vision_tower|multi_modal_projector|audio_tower|embed_vision|embed_audio)\.`;
