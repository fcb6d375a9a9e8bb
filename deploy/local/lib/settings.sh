# Names, folders and addresses of this checkout's cluster. All of them follow from the checkout's path, so that
# two checkouts on one machine never meet, and every script finds the same cluster again.

repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../.." && pwd)
local_folder=$repository/deploy/local
cache=${LLMSERVICE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/llmservice}
state=$repository/.local/cluster
cluster_id=$(printf %s "$repository" | sha256sum | cut -c1-8)
cgroup=llmservice-$cluster_id
node_name=local

# A /30 between the machine and the node, from 10.128.0.0/10; pods and services have fixed ranges inside the node's
# own network namespace.
subnet=10.$((128 + 16#${cluster_id:0:2} % 64)).$((16#${cluster_id:2:2})).$((16#${cluster_id:4:2} & 252))
host_ip=${subnet%.*}.$((${subnet##*.} + 1))
node_ip=${subnet%.*}.$((${subnet##*.} + 2))
veth=llm$cluster_id
pod_cidr=10.88.0.0/16
service_cidr=10.96.0.0/16
dns_ip=10.96.0.10

s3_endpoint=http://$node_ip:9000
s3_access_key=demo-access-key
s3_secret_key=demo-secret-key

export KUBECONFIG=$state/kubeconfig
# Last: llmservice and kubectl-llm, which kubectl finds by its name; npm's links stand in for no other program.
export PATH=$repository/.local/bin:$cache/bin:$PATH:$repository/node_modules/.bin

# The node sees the state folder here: short (socket paths are limited to 107 bytes) and the same for every checkout.
node_state=/run/llmservice

# render FILE: the file with @NAME@ replaced by the settings above.
render() {
  sed -e "s|@NODE_NAME@|$node_name|g" -e "s|@NODE_IP@|$node_ip|g" -e "s|@POD_CIDR@|$pod_cidr|g" \
    -e "s|@DNS_IP@|$dns_ip|g" -e "s|@CGROUP@|$cgroup|g" -e "s|@STATE@|$node_state|g" \
    -e "s|@S3_ACCESS_KEY@|$s3_access_key|g" -e "s|@S3_SECRET_KEY@|$s3_secret_key|g" "$1"
}
