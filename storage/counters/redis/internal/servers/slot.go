package servers

import "strings"

// A cluster has so many slots.
const slots = 16384

// slotOf returns the slot of a key: of what stands in its first braces, or of all of it.
func slotOf(key string) int {
	if open := strings.IndexByte(key, '{'); open >= 0 {
		if end := strings.IndexByte(key[open+1:], '}'); end > 0 {
			key = key[open+1 : open+1+end]
		}
	}
	sum := uint16(0) // CRC16, XMODEM
	for i := range len(key) {
		sum ^= uint16(key[i]) << 8
		for range 8 {
			carry := sum&0x8000 != 0
			if sum <<= 1; carry {
				sum ^= 0x1021
			}
		}
	}
	return int(sum) % slots
}
