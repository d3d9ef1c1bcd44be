package storage_test

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/memory"
)

// A record that somebody else has changed since it was read is not overwritten.
func Example() {
	ctx := context.Background()
	store, err := storage.Open(ctx, memory.New(), storage.NewMasterKey())
	if err != nil {
		log.Fatal(err)
	}
	app, err := store.SaveApp(ctx, storage.App{Name: "Shop", Domains: []string{"shop.example.com"}})
	if err != nil {
		log.Fatal(err)
	}
	mine, yours := app, app
	mine.Name = "My shop"
	_, err = store.SaveApp(ctx, mine)
	fmt.Println(err)
	yours.Name = "Your shop"
	_, err = store.SaveApp(ctx, yours)
	fmt.Println(errors.Is(err, storage.ErrConflict))
	fmt.Println(app.AppKey()) // a secret prints nothing of itself; Reveal does
	// Output:
	// <nil>
	// true
	// [secret]
}
