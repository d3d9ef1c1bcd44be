package host

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/keystile/keystile"
	"github.com/keystile/keystile/oauth/signin/passwords"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/memory"
)

const base = "http://127.0.0.1:8080"

// book keeps what several goroutines write.
type book struct {
	mu   sync.Mutex
	text strings.Builder
}

func (b *book) Write(line []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(line)
}

func (b *book) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// newConfig is that of a host on an empty store, and what its log says.
func newConfig() (keystile.Config, *book) {
	var said book
	c := keystile.Config{
		BaseURL: base, Backend: memory.New(), MasterKey: storage.NewMasterKey(),
		Log: slog.New(slog.NewTextHandler(&said, nil)),
	}
	c.SignIn.Passwords = passwords.New(passwords.Cost{Memory: 64, Passes: 1})
	return c, &said
}

// start makes a service, which ends with the test.
func start(t *testing.T, c keystile.Config) *keystile.Service {
	t.Helper()
	service, err := keystile.New(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := service.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return service
}

// ask sends a request with a form, if there is one, and headers in pairs.
func ask(h http.Handler, method, path, form string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, strings.NewReader(form))
	if form != "" {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}
