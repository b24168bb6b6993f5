from hypothesis import settings

# An example takes as long as a busy computer needs.
settings.register_profile("patient", deadline=None)
settings.load_profile("patient")
