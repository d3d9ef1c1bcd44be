//go:build ignore

// Gen writes CONFIGURATION.md beside the program, from the keys of package config:
//
//	go generate ./cmd/keystile/command
package main

import (
	"log"
	"os"

	"github.com/keystile/keystile/cmd/keystile/internal/config"
)

func main() {
	if err := os.WriteFile("../CONFIGURATION.md", []byte(config.Page()), 0o644); err != nil {
		log.Fatal(err)
	}
}
