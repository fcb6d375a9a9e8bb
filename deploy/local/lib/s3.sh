# The S3 server: versitygw over a folder, with SigV4 as any S3. In the cluster it is the Service `s3` in namespace `storage`.

start_s3() {
  mkdir -p "$state/s3"
  start_daemon s3 env ROOT_ACCESS_KEY="$s3_access_key" ROOT_SECRET_KEY="$s3_secret_key" \
    "$versitygw_bin/versitygw" --port ":9000" --quiet posix "$node_state/s3"
}

# Any answer will do, a refusal for want of a signature included.
s3_answers() { curl -s -o /dev/null --max-time 2 "$s3_endpoint/"; }

run_s3() {
  daemon_running s3 || start_s3
  wait_for 'S3 server' 20 s3 s3_answers
}
