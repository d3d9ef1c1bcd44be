package registry_test

import (
	"context"
	"fmt"

	"github.com/keystile/keystile/registry"
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
	// {"properties":{"filter_age":{"type":["integer","null"]},"id":{"type":"string"}},"required":["id"],"type":"object"}
	// /paths/~1pets~1{id}/get/parameters/1 is not a parameter
}
