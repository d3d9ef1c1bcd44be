package passwords_test

import (
	"context"
	"fmt"
	"log"
	"strings"

	"github.com/keystile/keystile/oauth/signin/passwords"
)

func Example() {
	ctx := context.Background()
	hasher := passwords.New(passwords.Cost{Memory: 64, Passes: 1}) // for an example; a program leaves it zero
	hash, err := hasher.Hash(ctx, "correct horse battery staple")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(strings.HasPrefix(hash, "$argon2id$"))
	ok, _, err := hasher.Verify(ctx, hash, "correct horse battery staple")
	fmt.Println(ok, err)
	fmt.Println(passwords.Check("ada lovelace", "ada lovelace") != nil) // what is known of a user is no password
	// Output:
	// true
	// true <nil>
	// true
}
