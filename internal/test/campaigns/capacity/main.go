package main

import "os"

func main() { page(os.Stdout, assumed) }
