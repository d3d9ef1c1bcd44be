# This file has what the programs share, each of which is one client as Debian has it: see python/lib.py.
use strict; use warnings; use URI; use URI::QueryParam;
$| = 1;

sub visit {
  print "visit: $_[0]\n";
  my $back = <STDIN>;
  chomp $back;
  return URI->new($back)->query_form_hash;
}

sub want {
  my ($step, $got, $wanted) = @_;
  die "$step: $got, want $wanted\n" unless $got eq $wanted;
  print "ok: $step\n";
}
1;
