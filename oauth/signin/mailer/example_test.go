package mailer_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/keystile/keystile/oauth/signin/mailer"
)

// While something is tried out, each email is a file.
func Example() {
	dir, err := os.MkdirTemp("", "mail")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	m := mailer.NewFolder(dir) // in a program: mailer.NewSMTP(mailer.SMTPConfig{Host: "smtp.example.com", ...})
	if err := m.Send(context.Background(), "ada@example.com", "Your code", "It is 123456.\n"); err != nil {
		log.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	fmt.Println(len(files), err)
	// Output: 1 <nil>
}
