package bolt_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/keystile/keystile/storage/bolt"
	"github.com/keystile/keystile/storage/driver"
)

func Example() {
	dir, err := os.MkdirTemp("", "bolt")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "keystile.db")
	for range 2 { // what was answered is there after the file is opened again
		b, err := bolt.Open(path, bolt.Options{})
		if err != nil {
			log.Fatal(err)
		}
		_, err = b.Put(context.Background(), driver.Doc{Kind: "greeting", ID: "hello", Data: []byte("world")})
		fmt.Println(err)
		if err := b.Close(); err != nil {
			log.Fatal(err)
		}
	}
	// Output:
	// <nil>
	// storage: exists already: greeting "hello"
}
