package s3

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/keystile/keystile/internal/pattern"
	"github.com/keystile/keystile/storage"
)

// Config says where objects are put. Region, Bucket, AccessKey and SecretKey are required.
type Config struct {
	Endpoint  string // such as https://minio.internal:9000; "": that of Amazon in the region
	Region    string // such as eu-central-1; many other stores take us-east-1
	Bucket    string
	Prefix    string // of the names of objects, without slashes around it; "": none
	PathStyle bool   // https://endpoint/bucket/name in place of https://bucket.endpoint/name

	AccessKey    string
	SecretKey    storage.Secret
	SessionToken storage.Secret // of temporary keys; zero: none

	// Encryption is x-amz-server-side-encryption, AES256 or aws:kms; "": as the bucket has it.
	Encryption string
	KMSKey     string // of aws:kms; "": that of the bucket

	Timeout time.Duration // of one attempt; 0: a minute
}

const defaultTimeout = time.Minute

var (
	bucketName = pattern.Lazy(`^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$`)
	plainWord  = pattern.Lazy(`^[A-Za-z0-9_./:=+@-]+$`)
)

// Check completes a Config and returns all that is wrong with it. No secret is in the error.
func (c *Config) Check() error {
	var errs []error
	complain := func(wrong bool, format string, args ...any) {
		if wrong {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	complain(!plainWord().MatchString(c.Region), "region: %q is none; name it, as us-east-1", c.Region)
	complain(!bucketName().MatchString(c.Bucket), "bucket: %q is none: 3 to 63 of a-z, 0-9, dots and hyphens", c.Bucket)
	complain(c.Prefix != "" && !validPrefix(c.Prefix),
		"prefix: %q is none: up to 200 of letters, digits, - _ . and / between them", c.Prefix)
	complain(c.AccessKey == "", "access_key: it is missing")
	complain(c.SecretKey.IsZero(), "secret_key: it is missing")
	complain(!isWord(c.AccessKey), "access_key: it is one word of letters and digits")
	complain(!printable(c.SecretKey.Reveal()), "secret_key: it has characters that no key has")
	complain(!printable(c.SessionToken.Reveal()), "session_token: it has characters that no token has")
	complain(c.Encryption != "" && c.Encryption != "AES256" && c.Encryption != "aws:kms",
		"encryption: %q is neither AES256 nor aws:kms", c.Encryption)
	complain(c.KMSKey != "" && (c.Encryption != "aws:kms" || !plainWord().MatchString(c.KMSKey)),
		"kms_key: it is the id of a key, and goes with the encryption aws:kms")
	complain(c.Timeout < 0, "timeout: it is above 0")
	if c.Endpoint == "" {
		c.Endpoint = "https://s3." + c.Region + ".amazonaws.com"
	}
	u, err := url.Parse(c.Endpoint)
	complain(err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || u.User != nil ||
		strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "",
		"endpoint: it is https:// or http://, a host and perhaps a port, nothing else")
	if err == nil {
		complain(!c.PathStyle && net.ParseIP(u.Hostname()) != nil, "path_style: an endpoint that is an address needs it")
		complain(!c.PathStyle && u.Scheme == "https" && strings.Contains(c.Bucket, "."),
			"path_style: a bucket with a dot in its name needs it, because no certificate is of such a host")
	}
	c.Timeout = cmp.Or(c.Timeout, defaultTimeout)
	return errors.Join(errs...)
}

func validPrefix(s string) bool {
	if len(s) > 200 {
		return false
	}
	for part := range strings.SplitSeq(s, "/") {
		if part == "." || part == ".." || !regexp.MustCompile(`^[A-Za-z0-9_.-]+$`).MatchString(part) {
			return false
		}
	}
	return true
}

func isWord(s string) bool { return s == "" || plainWord().MatchString(s) }

// printable keeps a line break, as of a file that was read in, out of a header.
func printable(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r <= ' ' || r > '~' }) < 0
}

// base returns the address of the bucket, without a slash behind it.
func (c Config) base() (*url.URL, error) {
	u, err := url.Parse(c.Endpoint)
	if err != nil {
		return nil, err
	}
	u.Path = ""
	if c.PathStyle {
		u.Path = "/" + c.Bucket
	} else {
		u.Host = c.Bucket + "." + u.Host
	}
	return u, nil
}
