package registry_test

import (
	"context"
	"fmt"
	"net/http"

	"github.com/keystile/keystile/registry"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/memory"
)

func ExampleParse() {
	document := []byte(`{"openapi": "3.0.3", "paths": {"/pets/{id}": {"get": {
		"operationId": "getPet", "summary": "One pet",
		"parameters": [{"name": "filter[age]", "in": "query", "schema": {"type": "integer", "nullable": true}}, null]}}}}`)
	result, err := registry.Parse(context.Background(), document, registry.Options{Member: "shop"})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, tool := range result.Tools {
		fmt.Printf("shop__%s: %s %s, %s\n%s\n", tool.Name, tool.Method, tool.Path, tool.Description, tool.InputSchema)
	}
	for _, skip := range result.Skipped {
		fmt.Println(skip.Pointer, "is", skip.Reason)
	}
	// Output:
	// shop__getPet: get /pets/:id, One pet
	// {"additionalProperties":false,"properties":{"filter_age":{"description":"\"filter[age]\" in the API.","type":["integer","null"]},"id":{"type":"string"}},"required":["id"],"type":"object"}
	// /paths/~1pets~1{id}/get/parameters/1 is not a parameter
}

// A document may be YAML. An alias, or a merge key, stands for what it leads to.
func ExampleParse_yaml() {
	document := []byte(`
openapi: 3.0.3
info: {title: Petstore, version: 1.0.0}
x-page: &page
  parameters:
    - {name: limit, in: query, schema: {type: integer, default: 20}}
    - {name: lang, in: query, schema: {type: string, enum: [en, no]}}
paths:
  /pets:
    get: {operationId: listPets, summary: All pets, <<: *page}
  /pets/{id}/visits:
    get:
      operationId: listVisits
      summary: >-
        When a pet has seen
        the doctor
      <<: *page
      responses:
        200: {description: the visits}
`)
	result, err := registry.Parse(context.Background(), document, registry.Options{Member: "pets"})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, tool := range result.Tools {
		fmt.Printf("pets__%s: %s %s, %s\n%s\n", tool.Name, tool.Method, tool.Path, tool.Description, tool.InputSchema)
	}
	// Output:
	// pets__listPets: get /pets, All pets
	// {"additionalProperties":false,"properties":{"lang":{"enum":["en","no"],"type":"string"},"limit":{"default":20,"type":"integer"}},"type":"object"}
	// pets__listVisits: get /pets/:id/visits, When a pet has seen the doctor
	// {"additionalProperties":false,"properties":{"id":{"type":"string"},"lang":{"enum":["en","no"],"type":"string"},"limit":{"default":20,"type":"integer"}},"required":["id"],"type":"object"}
}

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
