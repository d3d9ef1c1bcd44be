package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/keystile/keystile/legacy/migration"
	"github.com/keystile/keystile/storage/memory"
)

// The configuration of the application.
const (
	appid  = "1000"
	appkey = "5f2b8c0e9d7a41638b1fca20e4d65903"
)

func main() {
	if err := run(context.Background(), os.Stdout); err != nil {
		log.Fatal(err)
	}
}

// run has somebody sign in to the application in the old way, moves it, has them sign in again, and prints
// who would break without the old endpoints.
func run(ctx context.Context, out io.Writer) (err error) {
	backend := memory.New() // ends with the process; bolt.Open(path, bolt.Options{}) does not
	defer backend.Close()
	at, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	origin := "http://" + at.Addr().String()
	s, err := newHost(ctx, origin, backend, appid, appkey)
	if err != nil {
		return errors.Join(err, at.Close())
	}
	defer serve(at, s).Close()

	if at, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		return errors.Join(err, s.Close(ctx))
	}
	shopAt := "http://" + at.Addr().String()
	ways := map[string]way{
		"connect.php":    oldWay{origin, appid, appkey, shopAt + "/back"},
		"OpenID Connect": newWay{origin, appid, appkey, shopAt + "/back"},
	}
	shop := newShop(nil)
	defer serve(at, shop).Close()

	for _, name := range []string{"connect.php", "OpenID Connect"} {
		shop.move(ways[name])
		page, err := newBrowser().open(ctx, shopAt+"/login")
		if err != nil {
			return errors.Join(err, s.Close(ctx))
		}
		fmt.Fprintf(out, "%s: %s\n", name, page)
	}
	if err := s.Close(ctx); err != nil { // it hands over what its audit trail still holds
		return err
	}
	now := time.Now()
	report, err := migration.Read(ctx, s.Store, now.AddDate(0, 0, -30), now.Add(time.Minute))
	if err != nil {
		return err
	}
	return report.Render(out)
}

func serve(at net.Listener, h http.Handler) *http.Server {
	s := &http.Server{Handler: h, ReadHeaderTimeout: 5 * time.Second}
	go s.Serve(at)
	return s
}
