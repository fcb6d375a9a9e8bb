// etcd's server; upstream's own command is a package named server, which is what its binary would be called.
package main

import (
	"os"

	"go.etcd.io/etcd/server/v3/etcdmain"
)

func main() { etcdmain.Main(os.Args) }
