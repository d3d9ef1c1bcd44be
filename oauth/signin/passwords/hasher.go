package passwords

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"time"

	"golang.org/x/crypto/argon2"
)

// Cost says what one hash takes. Zero values are the smallest that OWASP recommends.
type Cost struct {
	Memory uint32 // KiB; 0: 19 MiB; at most 256 MiB
	Passes uint32 // 0: 2; at most 16
}

// Hasher hashes passwords with argon2id. It computes as many at once as there are
// processors, so that many sign-ins at once wait instead of taking all memory: one process
// shares one Hasher. A password that would wait for more than some three seconds is refused
// before it is hashed; the error is storage.ErrUnavailable, answered with 503 and Retry-After.
type Hasher struct {
	cost  Cost
	queue *queue
	key   func(password, salt []byte, passes, memory uint32, threads uint8, size uint32) []byte
}

const (
	saltSize = 16
	keySize  = 32

	// The largest costs of a stored hash that are computed.
	maxMemory = 256 << 10 // KiB
	maxPasses = 16
	maxBytes  = 64 // of salt and key
)

// New makes a Hasher.
func New(c Cost) *Hasher {
	c = Cost{min(cmp.Or(c.Memory, 19<<10), maxMemory), min(cmp.Or(c.Passes, 2), maxPasses)}
	return &Hasher{cost: c, queue: newQueue(runtime.GOMAXPROCS(0)), key: argon2.IDKey}
}

// Hash returns the hash of a password as a PHC string.
func (p *Hasher) Hash(ctx context.Context, password string) (string, error) {
	h := p.draw()
	err := p.compute(ctx, func(text string) bool { h.key = p.derive(h, text); return true }, Normal(password))
	if err != nil {
		return "", err
	}
	return h.String(), nil
}

// Verify reports whether a hash is of this password, in constant time. "" is the hash of
// no password and takes as long as any. stale says that new hashes have another cost, or that this
// one is of the password as it was typed: those of earlier versions are (see Normal). So is each hash of another
// product, see Adopt.
func (p *Hasher) Verify(ctx context.Context, hash, password string) (ok, stale bool, err error) {
	h := p.draw()
	foreign, err := parseForeign(hash)
	if err == nil && hash != "" && foreign == nil {
		h, err = parseHash(hash)
	}
	if err != nil {
		return false, false, errHash
	}
	forms := []string{Normal(password)}
	if forms[0] != password {
		forms = append(forms, password)
	}
	tried, right := 0, false
	err = p.compute(ctx, func(text string) bool {
		tried++
		if foreign != nil {
			right = foreign.matches(text)
		} else {
			right = subtle.ConstantTimeCompare(p.derive(h, text), h.key) == 1 && hash != ""
		}
		return right
	}, forms...)
	if err != nil {
		return false, false, err
	}
	if right {
		p.queue.forgive(ctx)
	}
	usual := h.cost == p.cost && h.threads == 1 && len(h.salt) == saltSize && len(h.key) == keySize
	return right, !usual || foreign != nil || tried > 1, nil
}

// Rehash is Hash for a password that has just been right and whose hash is stale. It is no
// attempt, and counts as none.
func (p *Hasher) Rehash(ctx context.Context, password string) (string, error) {
	hash, err := p.Hash(ctx, password)
	p.queue.forgive(ctx)
	return hash, err
}

// draw makes a random hash that no password has.
func (p *Hasher) draw() phc {
	h := phc{cost: p.cost, threads: 1, salt: make([]byte, saltSize), key: make([]byte, keySize)}
	rand.Read(h.salt)
	rand.Read(h.key)
	return h
}

// derive computes the key of a text for the salt and at the cost of a hash.
func (p *Hasher) derive(h phc, text string) []byte {
	return p.key([]byte(text), h.salt, h.cost.Passes, h.cost.Memory, h.threads, uint32(len(h.key)))
}

// compute tries texts, one after another, until one is right. However many there are, it is one attempt.
func (p *Hasher) compute(ctx context.Context, right func(text string) bool, texts ...string) error {
	if err := p.queue.enter(ctx); err != nil {
		return err
	}
	began, n := time.Now(), time.Duration(0)
	defer func() { p.queue.leave(time.Since(began) / max(n, 1)) }()
	for _, text := range texts {
		n++
		if right(text) {
			break
		}
	}
	return nil
}

// phc is an argon2id hash as the PHC string format writes it.
type phc struct {
	cost      Cost
	threads   uint8
	salt, key []byte
}

const phcForm = "$argon2id$v=19$m=%d,t=%d,p=%d$"

// String returns the hash as the PHC string format writes it.
func (h phc) String() string {
	enc := base64.RawStdEncoding
	return fmt.Sprintf(phcForm, h.cost.Memory, h.cost.Passes, h.threads) + enc.EncodeToString(h.salt) + "$" +
		enc.EncodeToString(h.key)
}

var errHash = errors.New("passwords: a stored password hash is damaged, or costs more than is ever computed; set the " +
	"password again")

// parseHash reads exactly what String writes, and nothing that would take all memory.
func parseHash(text string) (h phc, err error) {
	parts := strings.Split(text, "$")
	if len(parts) != 6 {
		return h, errHash
	}
	if _, err := fmt.Sscanf(strings.Join(parts[:4], "$")+"$", phcForm, &h.cost.Memory, &h.cost.Passes,
		&h.threads); err != nil {
		return h, errHash
	}
	h.salt, _ = base64.RawStdEncoding.DecodeString(parts[4])
	h.key, _ = base64.RawStdEncoding.DecodeString(parts[5])
	small := h.cost.Memory <= maxMemory && h.cost.Passes <= maxPasses && len(h.salt) <= maxBytes && len(h.key) <= maxBytes
	strong := h.cost.Passes >= 1 && h.threads >= 1 && h.threads <= 16 && len(h.salt) >= 8 && len(h.key) >= 16
	if !small || !strong || h.String() != text {
		return h, errHash
	}
	return h, nil
}
