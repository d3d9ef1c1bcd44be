package restcall

import "slices"

// Some clients add members to the arguments of every call, whatever the tool takes. They are ignored, and the
// result says so; any other unknown member is refused, since a model means something by it.
var (
	noise = []string{
		"toolCallId", "sessionId", "chatInput", // n8n
		"wait_for_previous", "waitForPreviousTools", "toolAction", "toolSummary", // Gemini CLI, Antigravity
		"random_string", // Cursor, for tools without arguments
		"security_risk", // OpenHands
		"task_progress", // Cline
		"_meta",         // what belongs beside the arguments
	}
	// besideNoise are those of n8n that a model could mean too: only with one of its others they are noise.
	besideNoise = []string{"action", "tool"}
)

// noiseAmong returns those of the unknown members that clients add.
func noiseAmong(unknown []string) (out []string) {
	marked := slices.Contains(unknown, "toolCallId") || slices.Contains(unknown, "sessionId")
	for _, name := range unknown {
		if slices.Contains(noise, name) || marked && slices.Contains(besideNoise, name) {
			out = append(out, name)
		}
	}
	return out
}
