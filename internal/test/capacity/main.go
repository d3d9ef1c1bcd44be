package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"

	"github.com/keystile/keystile/internal/test/database"
)

func main() {
	measuring := flag.Bool("measure", false, "measure what acts cost, on the PostgreSQL of "+database.Direct+" and the Redis of KEYSTILE_TEST_REDIS_URL")
	acts := flag.Int("acts", 200, "how often each of them")
	flag.Parse()
	if !*measuring {
		page(os.Stdout, assumed)
		return
	}
	err := errors.New(database.Direct + ` is not set: eval "$(.ci/postgres start DIR)"`)
	if address := os.Getenv(database.Direct); address != "" {
		err = measure(context.Background(), os.Stdout, address, os.Getenv("KEYSTILE_TEST_REDIS_URL"), *acts)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "capacity:", err)
		os.Exit(1)
	}
}
