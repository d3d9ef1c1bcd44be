package remote_test

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"

	"github.com/keystile/keystile/gateway/remote"
)

// A service in a process of its own, beside a Keystile service that is somewhere else.
func Example() {
	v, err := remote.New(context.Background(), remote.Config{BaseURL: "https://id.example.com"})
	if err != nil {
		log.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/reports/", v.Require("profile")(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		caller, _ := remote.CallerFrom(r.Context())
		fmt.Fprintf(w, "user %s by application %s", caller.UserID, caller.AppID)
	})))

	w := httptest.NewRecorder() // in a program: http.ListenAndServe(addr, mux)
	mux.ServeHTTP(w, httptest.NewRequest("GET", "/reports/2026", nil))
	fmt.Println(w.Code, w.Header().Get("WWW-Authenticate"))
	// Output: 401 Bearer
}

// A service that Keystile's tools call, told by a signed statement who the call is of: identity is signed there.
func ExampleVerifier_Callers() {
	orders := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		told, _ := remote.ToldFrom(r.Context())
		fmt.Fprintf(w, "for %s by %s", told.UserID, told.AppID)
	})
	mux := http.NewServeMux()
	v, err := remote.New(context.Background(), remote.Config{BaseURL: "https://id.example.com"})
	if err != nil {
		log.Fatal(err)
	}
	callers, err := v.Callers("https://api.example.com", "shop") // this service's origin, and whose calls it takes
	if err != nil {
		log.Fatal(err)
	}
	mux.Handle("/orders/", callers.Require(orders)) // in there: remote.ToldFrom(ctx)

	w := httptest.NewRecorder()
	mux.ServeHTTP(w, httptest.NewRequest("GET", "/orders/1", nil))
	fmt.Println(w.Code)
	// Output: 401
}
