// Package consolebench measures every page of the console over a large store: how long the server takes,
// how many bytes it sends and how often it asks the store, beside a static file. It holds tests alone. By
// themselves they fill a small store and hold each page to its size; told how large it shall be, they measure:
//
//	go test ./gateway/internal/consolebench -timeout 1h -v -run Pages \
//	    -users 100000 -groups 10000 -apps 10000 -audit 1000000 -usage 100000 -data DIR
//
// The store is one file of bolt in DIR, or with -postgres a schema of KEYSTILE_POSTGRES_URL. It is filled once
// and stays: a second run of the same DIR measures it again. A page is beyond its bound if its p95
// is over 50 ms, it has over 60 KB, or it asks the store more than four times beside what tells who reads it.
package consolebench
