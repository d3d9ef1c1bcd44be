// Package openapitest holds an OpenAPI document against what a service really does. It is for
// tests alone.
//
//	w := openapitest.New(t, g.OpenAPI())
//	w.Routes(t, routes)          // every path and method is described, and nothing else is
//	h = w.Watch(t, h)            // every answer is as the document says
//	w.SawEverything(t)           // and each operation has been seen to succeed
//
// An answer is as the document says if its status is described, its media type is, the
// headers it must have are there, and its JSON fits the schema. Schemas are taken to be
// closed: a member of an answer that is not described is a mistake in the document too. What
// a request brought that succeeded must be described as well.
package openapitest
