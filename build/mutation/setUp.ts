import fc from 'fast-check';

// A change is noticed by the first example that fails; looking for the smallest would take minutes for each.
fc.configureGlobal({ endOnFailure: true });
