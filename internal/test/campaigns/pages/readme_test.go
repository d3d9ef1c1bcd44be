package pages

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/keystile/keystile/internal/test/filled"
)

// mostPicture bounds a picture of README, in bytes.
const mostPicture = 60 << 10

// With KEYSTILE_PICTURES=folder the pictures of README are made there anew, and kept.
func TestPicturesOfREADMEAreSmall(t *testing.T) {
	t.Parallel()
	folder := os.Getenv("KEYSTILE_PICTURES")
	if folder == "" {
		folder = t.TempDir()
	}
	v := alone(t)
	f := used(t, func(text string) string { return text })
	v.s = f.service
	take := func(name string) {
		path := filepath.Join(folder, name+".webp")
		v.Picture(path, 1000, 640)
		if info, err := os.Stat(path); err != nil || info.Size() > mostPicture {
			t.Errorf("the picture %s: %v, %v", name, info, err)
		}
	}
	v.at("/console/")
	v.says("Sign in")
	take("signin")
	v.password()
	v.at("/console/")
	take("overview")
	v.at("/console/capabilities/bookshop/tools/findOrders")
	v.Follow("main form button")
	take("tryit")
	v.at("/console/audit")
	take("audit")
	v.asks(filled.DocumentID, filled.RemoteURI, "openid tools")
	v.says("Allow %s?", "agent.example.com")
	take("consent")
	v.quiet()
}
