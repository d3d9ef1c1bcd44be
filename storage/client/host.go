package client

import (
	"errors"
	"strings"
)

// CheckHost checks the host of metadata documents in the one spelling that it is looked up in: in lower
// case, with a port only if it is not 443.
func CheckHost(host string) error {
	switch err := CheckRedirect(DocumentPrefix + host); {
	case err != nil:
		return err
	case strings.ContainsAny(host, "/?"):
		return errors.New("it is more than a host")
	case host != strings.ToLower(host):
		return errors.New("write it in lower case")
	case strings.HasSuffix(host, ":443"):
		return errors.New("leave out its port: 443 is that of https")
	}
	return nil
}
