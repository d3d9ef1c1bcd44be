package storage_test

import (
	"strings"
	"testing"

	"github.com/keystile/keystile/storage"
)

func TestBrandHoldsWhatAPageCanShow(t *testing.T) {
	app := storage.App{Name: "Acme", Tier: storage.TierWhiteLabel, Public: true}
	for want, brands := range map[string][]storage.Brand{
		"": {
			{}, {Name: "Acme Notes"}, {Logo: "https://cdn.example.com/l.svg?v=1"}, {Logo: "/logo.svg"}, {Color: "#12aBef"},
		},
		"brand name": {{Name: strings.Repeat("a", 201)}, {Name: "\xff"}},
		"brand logo": {
			{Logo: "http://cdn.example.com/l.svg"}, {Logo: "//evil.example/l"}, {Logo: "/\\evil.example/l"},
			{Logo: "javascript:alert(1)"},
			{Logo: "data:image/svg+xml,<svg/>"}, {Logo: "https://"}, {Logo: "https://user@cdn.example.com/"}, {Logo: `https://a.example/"x`},
			{Logo: "https://a.example/a b"}, {Logo: "logo.svg"}, {Logo: "/" + strings.Repeat("a", 2048)},
			{Logo: "/\t/evil.example"},
		},
		"brand color": {{Color: "#123"}, {Color: "red"}, {Color: "#12345g"}, {Color: "123456#"}, {Color: "#+12345"},
			{Color: "#123456;"}},
	} {
		for _, b := range brands {
			app.Brand = &b
			err := app.Check()
			if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
				t.Errorf("%+v: %v, want %q", b, err, want)
			}
		}
	}
}

func TestBrandIsNotSharedWithWhoReadIt(t *testing.T) {
	store, _ := open(t)
	made, err := store.SaveApp(t.Context(), storage.App{Name: "Acme", Brand: &storage.Brand{Color: "#112233"}})
	if err != nil {
		t.Fatal(err)
	}
	first, _ := store.App(t.Context(), made.ID)
	first.Brand.Color = "#000000"
	if again, err := store.App(t.Context(), made.ID); err != nil || again.Brand.Color != "#112233" {
		t.Errorf("brand = %+v, %v", again.Brand, err)
	}
}
