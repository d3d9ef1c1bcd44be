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
