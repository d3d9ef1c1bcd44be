package cli

import "fmt"

// Hint names, by a format with one verb, what somebody most likely meant by what they typed: the
// name with the fewest edits. It returns "" where no name is near.
func Hint(format, typed string, names []string) string {
	best, least := "", 0
	for _, name := range names {
		if d := distance(typed, name); best == "" || d < least {
			best, least = name, d
		}
	}
	if best == "" || least > 1+len(typed)/4 {
		return ""
	}
	return fmt.Sprintf(format, best)
}

// distance counts the insertions, deletions, replacements and swaps of neighbours
// between two texts (optimal string alignment).
func distance(a, b string) int {
	var before []int
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		next := make([]int, len(b)+1)
		next[0] = i + 1
		for j := range len(b) {
			next[j+1] = min(row[j+1]+1, next[j]+1, row[j]+edit(a[i], b[j]))
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				next[j+1] = min(next[j+1], before[j-1]+1)
			}
		}
		before, row = row, next
	}
	return row[len(b)]
}

func edit(a, b byte) int {
	if a == b {
		return 0
	}
	return 1
}
