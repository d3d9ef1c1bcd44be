//go:build ignore

// Gen writes doc_config.go, the configuration in the doc comment of package command, from the keys
// of package config:
//
//	go generate ./cmd/keystile/command
package main

import (
	"log"
	"os"

	"github.com/keystile/keystile/cmd/keystile/internal/config"
)

func main() {
	if err := os.WriteFile("doc_config.go", []byte(config.GoDoc("command")), 0o644); err != nil {
		log.Fatal(err)
	}
}
