package openapi_test

import (
	"context"
	"fmt"

	"github.com/keystile/keystile/registry/openapi"
)

func ExampleParse() {
	document := []byte(`{"openapi": "3.0.3", "paths": {"/pets/{id}": {"get": {
		"operationId": "getPet", "summary": "One pet",
		"parameters": [{"name": "a[b]", "in": "query", "schema": {"type": "integer", "nullable": true}}, null]}}}}`)
	result, err := openapi.Parse(context.Background(), document, openapi.Options{Member: "shop"})
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
	// Output: shop__getPet: get /pets/:id, One pet
	// {"additionalProperties":false,"properties":{"a_b":{"description":"\"a[b]\" in the API.","type":["integer","null"]},"id":{"type":"string"}},"required":["id"],"type":"object"}
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
	result, err := openapi.Parse(context.Background(), document, openapi.Options{Member: "pets"})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, tool := range result.Tools {
		fmt.Printf("pets__%s: %s %s, %s\n%s\n", tool.Name, tool.Method, tool.Path, tool.Description, tool.InputSchema)
	}
	// Output: pets__listPets: get /pets, All pets
	// {"additionalProperties":false,"properties":{"lang":{"enum":["en","no"],"type":"string"},"limit":{"default":20,"type":"integer"}},"type":"object"}
	// pets__listVisits: get /pets/:id/visits, When a pet has seen the doctor
	// {"additionalProperties":false,"properties":{"id":{"type":"string"},"lang":{"enum":["en","no"],"type":"string"},"limit":{"default":20,"type":"integer"}},"required":["id"],"type":"object"}
}
