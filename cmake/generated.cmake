# What the build derives from files in the tree: tables from openapi.yaml, embedded SQL and web files.
set(PYTHON /usr/bin/python3)
set(GENERATED ${CMAKE_BINARY_DIR}/generated)
file(MAKE_DIRECTORY ${GENERATED})
set(GENERATED_API_SOURCES)
set(GENERATED_DB_SOURCES)

file(GLOB MIGRATIONS CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/db/migrations/*.sql)
add_custom_command(
  OUTPUT ${GENERATED}/migrations.c
  COMMAND ${PYTHON} ${CMAKE_SOURCE_DIR}/tools/embed_migrations.py ${GENERATED}/migrations.c ${MIGRATIONS}
  DEPENDS ${MIGRATIONS} ${CMAKE_SOURCE_DIR}/tools/embed_migrations.py)
list(APPEND GENERATED_DB_SOURCES ${GENERATED}/migrations.c)
