package registry_test

import (
	"context"
	"fmt"
	"net/http"

	"github.com/keystile/keystile/registry"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/memory"
)

// everybody is signed in as one operator. In a program *signin.SignIn stands here.
type everybody struct{}

func (everybody) Visitor(*http.Request) (storage.Session, error) {
	return storage.Session{UserID: "u1"}, nil
}

func (everybody) Proved(context.Context, storage.Session) (bool, error) { return true, nil }

func (everybody) Ask(http.ResponseWriter, *http.Request, storage.App) error { return nil }

// A host mounts the registrar where its people are signed in, and may register itself.
func Example() {
	ctx := context.Background()
	backend := memory.New()
	defer backend.Close()
	store, err := storage.Open(ctx, backend, storage.NewMasterKey())
	if err != nil {
		fmt.Println(err)
		return
	}
	registrar, err := registry.New(ctx, registry.Config{BaseURL: "https://id.example.com", Store: store,
		Visitors: everybody{}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer registrar.Close(ctx)
	mux := http.NewServeMux()
	registrar.Mount(mux)

	operator := storage.User{Sub: "u1", Role: storage.RoleAdmin}
	done, err := registrar.Register(ctx, operator, registry.Request{
		Member: "shop", UpstreamURL: "https://shop.example.com",
		OpenAPI: []byte(`{"openapi": "3.0.3", "paths": {"/orders/{id}": {"get": {"operationId": "getOrder"}}}}`),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, tool := range done.Tools {
		fmt.Printf("%s__%s goes to %s%s\n", done.Member, tool.Name, done.UpstreamURL, tool.Path)
	}
	// Output: shop__getOrder goes to https://shop.example.com/orders/:id
}
