package signin_test

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/keystile/keystile/oauth/signin"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/memory"
)

// The sign-in page alone, as a host without OAuth clients would use it: Visitor says who a
// request comes from.
func Example() {
	ctx := context.Background()
	store, err := storage.Open(ctx, memory.New(), storage.NewMasterKey())
	if err != nil {
		log.Fatal(err)
	}
	signIn, err := signin.New(ctx, signin.Config{BaseURL: "https://id.example.com", Store: store})
	if err != nil {
		log.Fatal(err)
	}
	defer signIn.Close(ctx)
	mux := http.NewServeMux()
	signIn.Mount(mux)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		if session, err := signIn.Visitor(r); err == nil {
			fmt.Fprintln(w, "hello,", session.UserID)
			return
		}
		http.Redirect(w, r, "/oauth/signin", http.StatusSeeOther)
	})

	w := httptest.NewRecorder()
	mux.ServeHTTP(w, httptest.NewRequest("GET", "/", nil))
	fmt.Println(w.Code, w.Header().Get("Location"))
	w = httptest.NewRecorder()
	mux.ServeHTTP(w, httptest.NewRequest("GET", "/oauth/signin", nil))
	fmt.Println(w.Code, strings.Contains(w.Body.String(), `name="password"`))
	// Output:
	// 303 /oauth/signin
	// 200 true
}
