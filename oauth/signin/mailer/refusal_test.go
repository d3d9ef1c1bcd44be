package mailer

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
)

// scripted is a server that answers one command in its own words, and everything else well.
func scripted(t *testing.T, command, answer string) SMTPConfig {
	t.Helper()
	at, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	t.Cleanup(func() { at.Close() })
	go func() {
		for {
			c, err := at.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				fmt.Fprint(c, "220 mail.test\r\n")
				for lines, text := bufio.NewScanner(c), false; lines.Scan(); {
					say := "250 ok"
					switch line := lines.Text(); {
					case text && line != ".":
						continue
					case strings.HasPrefix(line, command):
						text, say = false, answer
					case line == "DATA":
						text, say = true, "354 go on"
					case line == ".":
						text = false
					}
					fmt.Fprint(c, say+"\r\n")
				}
			}()
		}
	}()
	return SMTPConfig{Port: at.Addr().(*net.TCPAddr).Port, TLS: None}
}

func TestMailRefusedForGoodSaysSo(t *testing.T) {
	for promise, c := range map[string]struct {
		command, answer string
		want            bool
	}{
		"no such mailbox":              {"RCPT", "550 5.1.1 no such mailbox", true},
		"a full mailbox":               {"RCPT", "452 4.2.2 mailbox full", false},
		"a text that it does not take": {".", "554 5.6.0 not this", true},
		"a text, later":                {".", "451 4.3.0 later", false},
		"a sender that is not ours":    {"MAIL", "550 5.7.1 not you", false}, // the operator's to mend
	} {
		err := client(t, scripted(t, c.command, c.answer)).Send(t.Context(), "ada@example.org", "s", "t")
		var p interface{ Permanent() bool }
		if got := errors.As(err, &p) && p.Permanent(); err == nil || got != c.want {
			t.Errorf("%s: for good: %t, want %t: %v", promise, got, c.want, err)
		}
	}
	must(t, client(t, scripted(t, "NOOP", "250 ok")).Send(t.Context(), "ada@example.org", "s", "t"))
	var p interface{ Permanent() bool }
	if err := client(t, scripted(t, "NOOP", "250 ok")).Send(t.Context(), "nobody", "s", "t"); !errors.As(err, &p) ||
		!p.Permanent() {
		t.Errorf("no address: %v", err)
	}
}
