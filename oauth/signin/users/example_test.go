package users_test

import (
	"context"
	"fmt"
	"log"

	"github.com/keystile/keystile/oauth/signin/passwords"
	"github.com/keystile/keystile/oauth/signin/users"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/memory"
)

// An operator makes the first user of an embedded service.
func Example() {
	ctx := context.Background()
	store, err := storage.Open(ctx, memory.New(), storage.NewMasterKey())
	if err != nil {
		log.Fatal(err)
	}
	table := users.New(store, passwords.New(passwords.Cost{Memory: 64, Passes: 1})) // nil: a Hasher of the default cost
	ada, err := table.Create(ctx, storage.User{Username: "ada", Role: storage.RoleAdmin}, "correct horse battery staple")
	if err != nil {
		log.Fatal(err)
	}
	who, err := table.Authenticate(ctx, "Ada", "correct horse battery staple")
	fmt.Println(who.Sub == ada.Sub, who.Username, err)
	_, err = table.Authenticate(ctx, "ada", "guess")
	fmt.Println(err)
	// Output:
	// true ada <nil>
	// storage: not found
}
