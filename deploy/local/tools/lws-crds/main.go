// Does nothing: of this module the file named in `keep` is wanted, and tools are built.
package main

func main() {}
