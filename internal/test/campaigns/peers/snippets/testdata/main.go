// Command main signs a user in with the code beside it, and prints who that is.
package main

import (
	"bufio"
	"context"
	"fmt"
	"log"
	"net/url"
	"os"

	"golang.org/x/oauth2"

	"example.com/app/signin"
)

func main() {
	ctx := context.Background()
	config, verifier, err := signin.Open(ctx)
	if err != nil {
		log.Fatal(err)
	}
	state, nonce, pkce := oauth2.GenerateVerifier(), oauth2.GenerateVerifier(), oauth2.GenerateVerifier()
	fmt.Println(signin.Begin(config, state, nonce, pkce))
	in := bufio.NewScanner(os.Stdin)
	in.Scan()
	back, err := url.Parse(in.Text())
	if err != nil || back.Query().Get("state") != state {
		log.Fatal("the browser is not back with the state")
	}
	user, err := signin.Finish(ctx, config, verifier, back.Query().Get("code"), nonce, pkce)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(user.Subject)
}
