# The demo's service in any cluster: operator, Secret, manifest, load progress, and the two answers that it shows.

demo_host=demo.experimental.example
demo_question='What is the capital of France?'

# upload_model ENDPOINT: the demo's checkpoint as s3://models/NAME/.
upload_model() {
  local file
  s3_request --head "$1/models" 2>/dev/null || s3_request -X PUT "$1/models"
  for file in "$demo_checkpoint"/*; do s3_request -T "$file" "$1/models/$demo_model/$(basename "$file")"; done
  say "model in S3: $(du -sh "$demo_checkpoint" | cut -f1) at s3://models/$demo_model/"
}

# s3_request CURL-ARGUMENTS: signed; the content is not, which S3 wants to be told.
s3_request() {
  curl -sS --fail-with-body --aws-sigv4 aws:amz:us-east-1:s3 --user "$s3_access_key:$s3_secret_key" \
    -H 'x-amz-content-sha256: UNSIGNED-PAYLOAD' "$@" >/dev/null
}

# install_operator OPERATOR_IMAGE RUNTIME_IMAGE [HELM ARGUMENTS]
install_operator() {
  local operator=$1 runtime=$2
  shift 2
  with_progress 'operator' "$repository/.local/operator.log" \
    helm upgrade --install llmservice-operator charts/llmservice-operator --namespace llmservice-system --create-namespace \
    --set "image.repository=${operator%:*}" --set "image.tag=${operator##*:}" --set "runtimeImages.cpu=$runtime" \
    --set 'endpoints.allowed={s3.storage.svc.cluster.local}' \
    --wait --timeout 3m "$@"
}

# apply_service [JQ-FILTER]: the demo's Secret and manifest, the latter changed by the filter.
apply_service() {
  kubectl create namespace experimental --dry-run=client -o yaml | kubectl apply -f - >/dev/null
  kubectl create secret generic demo-s3 --namespace experimental --from-literal "AWS_ACCESS_KEY_ID=$s3_access_key" \
    --from-literal "AWS_SECRET_ACCESS_KEY=$s3_secret_key" --dry-run=client -o yaml |
    kubectl label --local -f - llmservice.dev/secret-for=s3 -o yaml | kubectl apply -f - >/dev/null
  kubectl create -f deploy/samples/demo.yaml --dry-run=client -o json | \
    jq ".spec.model.uri = \"s3://models/$demo_model/\" | ${1:-.}" | kubectl apply -f -
  show_load
}

# Prints a line whenever the status changes, until the service is Ready or has failed for good.
show_load() {
  local started=$SECONDS line='' last=''
  until kubectl wait --for=condition=Ready llm/demo --namespace experimental --timeout=1s >/dev/null 2>&1; do
    line=$(kubectl get llm demo --namespace experimental -o json | jq -r '
      (.status.conditions // [] | map({(.type): .}) | add // {}) as $c
      | ($c.Ready // {reason: "Pending"}).reason
        + (.status.loading // {} | if .phase then "  \(.phase) \(.bytesDone // 0)/\(.bytesTotal // 0) bytes" else "" end)
        + (if $c.Stalled.status == "True" then "  STALLED: \(.status.lastFailure.message // $c.Ready.message)" else "" end)')
    if [[ $line != "$last" ]]; then say "llm/demo: $line"; fi
    last=$line
    [[ $line != *STALLED* ]] || die "the service failed for good: kubectl describe llm demo -n experimental"
    ((SECONDS - started < 300)) || die "not ready after 300 s: kubectl describe llm demo -n experimental"
  done
  kubectl get llm demo --namespace experimental
}

# show_answers URL: a chat, token by token as it arrives, and the answer of :predict.
show_answers() {
  show_chat "$1/openai/v1" demo
  printf '\n> :predict %s\n< ' "$demo_question"
  curl -sS --fail-with-body -H "Host: $demo_host" -H 'Content-Type: application/json' -d "$(chat_body '{}')" "$1/v1/models/demo:predict"
  printf '\n'
}

# show_chat BASE_URL MODEL: the question, and the answer's text as it arrives.
show_chat() {
  printf '\n> %s\n< ' "$demo_question"
  curl -sS -N --fail-with-body --retry 10 --retry-all-errors --retry-delay 1 -H "Host: $demo_host" -H 'Content-Type: application/json' \
    -d "$(chat_body "{\"model\":\"$2\",\"stream\":true}")" "$1/chat/completions" |
    sed -u -n 's/^data: {/{/p' | jq --unbuffered -rj '.choices[0].delta.content // .error.message // empty'
  printf '\n'
}

# chat_body FIELDS: the question as a request with these fields too. A temperature of 0 gives one answer always.
chat_body() {
  jq -nc --arg question "$demo_question" "$1 + {messages: [{role: \"user\", content: \$question}], max_tokens: 64, temperature: 0}"
}
