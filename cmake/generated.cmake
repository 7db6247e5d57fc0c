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

set(OPERATIONS_GENERATOR ${CMAKE_SOURCE_DIR}/tools/generate_operations.py ${CMAKE_SOURCE_DIR}/tools/pattern_automaton.py)
add_custom_command(
  OUTPUT ${GENERATED}/operations.c ${GENERATED}/api/operations.h ${GENERATED}/openapi.json
  COMMAND ${PYTHON} ${CMAKE_SOURCE_DIR}/tools/generate_operations.py ${CMAKE_SOURCE_DIR}/openapi/openapi.yaml
          ${GENERATED}
  DEPENDS ${CMAKE_SOURCE_DIR}/openapi/openapi.yaml ${OPERATIONS_GENERATOR})
list(APPEND GENERATED_API_SOURCES ${GENERATED}/operations.c ${GENERATED}/api/operations.h)

# The dashboard is bundled into ${CMAKE_BINARY_DIR}/web; every file there is embedded, gzipped.
set(ASSETS_STAMP ${CMAKE_BINARY_DIR}/web-sizes.json)
set(WEB ${CMAKE_SOURCE_DIR}/web)
file(GLOB WEB_FILES CONFIGURE_DEPENDS ${WEB}/*.ts ${WEB}/*.tsx ${WEB}/*.mjs ${WEB}/*.css ${WEB}/*.html ${WEB}/*.svg
     ${WEB}/package-lock.json ${WEB}/pages/*.ts ${WEB}/pages/*.tsx ${WEB}/parts/*.ts ${WEB}/parts/*.tsx ${WEB}/pictures/*.ts ${WEB}/style/*.css)
add_custom_command(
  OUTPUT ${ASSETS_STAMP}
  COMMAND ${CMAKE_SOURCE_DIR}/tools/build_web.sh ${CMAKE_BINARY_DIR}/web
  DEPENDS ${WEB_FILES} ${CMAKE_SOURCE_DIR}/tools/build_web.sh
  COMMENT "Bundling the dashboard")
file(GLOB DOCS_PAGES CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/openapi/docs/*)
add_custom_command(
  OUTPUT ${GENERATED}/assets.c
  COMMAND ${PYTHON} ${CMAKE_SOURCE_DIR}/tools/embed_assets.py ${GENERATED} ${CMAKE_BINARY_DIR}/web-pages.json /=${CMAKE_BINARY_DIR}/web
          /api/docs/=${CMAKE_BINARY_DIR}/web/docs /api/docs/=${CMAKE_SOURCE_DIR}/openapi/docs
          /api/v1/swagger.json=${GENERATED}/openapi.json
  DEPENDS ${GENERATED}/openapi.json ${DOCS_PAGES} ${CMAKE_SOURCE_DIR}/tools/embed_assets.py ${ASSETS_STAMP})
list(APPEND GENERATED_API_SOURCES ${GENERATED}/assets.c)
