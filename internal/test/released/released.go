// Package released holds the data that each release of Keystile has left behind, for tests that later versions
// still read it: a data folder, the tables of PostgreSQL, and what is known of both.
//
//	testdata/VERSION/facts.json    names, passwords and tokens, and what must be true of them
//	testdata/VERSION/data.tar.gz    the data folder, with a backup in it
//	testdata/VERSION/postgres.sql.gz    the same store on PostgreSQL, in the schema that facts.json names
//	testdata/VERSION/hosts    programs that embedded it, as they were
//
// Nothing in it guards anything: it was made for this. Of a release that is out no file changes any more.
// Package internal/test/campaigns/upgrade writes it.
package released

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"
)

// Facts say what is in the data of a release.
type Facts struct {
	Version  string    `json:"version"`
	At       time.Time `json:"at"`       // when the data was left
	Features []string  `json:"features"` // that the release knows: it opens no store that has others
	Schema   string    `json:"schema"`   // of the tables on PostgreSQL
	Steps    int       `json:"steps"`    // that those tables have taken

	Admin    Person `json:"admin"`
	User     Person `json:"user"`
	Disabled Person `json:"disabled"`
	Guarded  Person `json:"guarded"` // has a second factor

	App     App    `json:"app"`
	Session string `json:"session"` // the cookie of the administrator, name=value
	Access  string `json:"access"`
	Refresh string `json:"refresh"`
	Used    string `json:"used"`    // a refresh token that was exchanged for Refresh
	Revoked string `json:"revoked"` // an access token that was revoked
	APIKey  string `json:"api_key"` // of User
	Tool    string `json:"tool"`
	Calls   int64  `json:"calls"` // of product ai by App, charged
	Head    string `json:"head"`  // of the audit trail
}

// Person is a user with the password.
type Person struct {
	Username string `json:"username"`
	Password string `json:"password"`
}

// App is an application with its secret.
type App struct {
	ID       string `json:"client_id"`
	Secret   string `json:"client_secret"`
	Redirect string `json:"redirect_uri"`
}

// Folder returns where the data of a release is.
func Folder(version string) string {
	_, here, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(here), "testdata", version)
}

// Versions lists the releases whose data there is.
func Versions() (all []string, err error) {
	entries, err := os.ReadDir(Folder(""))
	for _, e := range entries {
		all = append(all, e.Name())
	}
	if err == nil && len(all) == 0 {
		err = errors.New("there is no data of any release")
	}
	return all, err
}

// Read returns what is known of the data of a release.
func Read(version string) (f Facts, err error) {
	text, err := os.ReadFile(filepath.Join(Folder(version), "facts.json"))
	if err == nil {
		err = json.Unmarshal(text, &f)
	}
	return f, err
}

// Unpack puts the data folder of a release into dir.
func Unpack(version, dir string) error {
	plain, err := unzipped(filepath.Join(Folder(version), "data.tar.gz"))
	if err != nil {
		return err
	}
	archive := tar.NewReader(bytes.NewReader(plain))
	for {
		head, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		path := filepath.Join(dir, filepath.FromSlash(head.Name))
		if !filepath.IsLocal(head.Name) {
			return fmt.Errorf("data.tar.gz has a file %q", head.Name)
		}
		text, err := io.ReadAll(archive)
		if err == nil {
			err = os.MkdirAll(filepath.Dir(path), 0o700)
		}
		if err == nil {
			err = os.WriteFile(path, text, fs.FileMode(head.Mode))
		}
		if err != nil {
			return err
		}
	}
}

// SQL returns the statements that make the tables of a release.
func SQL(version string) (string, error) {
	text, err := unzipped(filepath.Join(Folder(version), "postgres.sql.gz"))
	return string(text), err
}

func unzipped(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	plain, err := gzip.NewReader(file)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(plain)
}
