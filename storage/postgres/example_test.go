package postgres_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/postgres"
)

// Several processes open one database with one master key.
func Example() {
	ctx := context.Background()
	backend, err := postgres.Open(ctx, "postgres://keystile@db.example.com/keystile?sslmode=verify-full", postgres.Options{
		Conns:   8,               // four for each core of the database, divided among the nodes
		Timeout: 3 * time.Second, // for each call
	})
	if err != nil {
		log.Print(err)
		return
	}
	defer backend.Close()
	store, err := storage.Open(ctx, backend, storage.NewMasterKey()) // in truth the one that all nodes have
	fmt.Println(store != nil, err)
}
