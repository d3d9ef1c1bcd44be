# This file has what the programs share, each of which is one client as Debian has it: see python/lib.py.
ISSUER, ID, SECRET, REDIRECT, SUB, EMAIL = %w[ISSUER ID SECRET REDIRECT SUB EMAIL].map { |name| ENV[name] }

def visit(url)
  puts "visit: #{url}"
  $stdout.flush
  URI.decode_www_form(URI($stdin.gets.chomp).query).to_h
end

def want(step, got, wanted)
  abort "#{step}: #{got.inspect}, want #{wanted.inspect}" unless got == wanted
  puts "ok: #{step}"
end
